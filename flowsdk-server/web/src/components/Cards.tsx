import type { Card } from '../content.ts';
import { PersonIcon } from './icons.tsx';
import { TypedText } from './RichText.tsx';

/** Cards of people; their numbers and addresses are links. */
export function Cards({ cards }: { cards: Card[] }) {
  return (
    <ul class="cards">
      {cards.map((card, at) => (
        <li key={at} class="file">
          <PersonIcon />
          <div class="file-name">
            {card.name}
            {card.organisation && <small>{card.organisation}</small>}
            {[...card.phones, ...card.emails, ...card.urls].map((line) => (
              <TypedText key={line} text={line} />
            ))}
          </div>
        </li>
      ))}
    </ul>
  );
}
