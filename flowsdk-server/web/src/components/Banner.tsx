import type { State } from '../app.ts';
import { t } from '../i18n.ts';

export function Banner({ state }: { state: State }) {
  const text = bannerText(state);
  // The live region stays in the page: one that appears together with its text is often not read out.
  return (
    <div class={text ? 'banner shown' : 'banner'} role="status">
      {text && <span class="banner-text">{text}</span>}
    </div>
  );
}

function bannerText(state: State): string {
  if (state.link === 'offline') return t.offline;
  if (state.link === 'limited') return t.limited(Math.max(1, Math.round(state.retryInMs / 1000)));
  return state.link === 'connecting' ? t.connecting : '';
}
