import type { Place as At } from '../content.ts';
import { t } from '../i18n.ts';
import { PlaceIcon } from './icons.tsx';

/** A place as a card that leads to a map. Nothing of the map is loaded before it is opened. */
export function Place({ name, address, latitude, longitude }: At) {
  const at = `${latitude}, ${longitude}`;
  const map = `https://www.openstreetmap.org/?mlat=${latitude}&mlon=${longitude}#map=17/${latitude}/${longitude}`;
  return (
    <a class="file" href={map} target="_blank" rel="noopener noreferrer nofollow">
      <PlaceIcon />
      <span class="file-name">
        {name || t.location}
        <small>{address || at}</small>
      </span>
      <span class="hidden"> ({t.newTab})</span>
    </a>
  );
}
