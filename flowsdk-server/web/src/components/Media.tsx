import { useState } from 'preact/hooks';
import { baseOf } from '../base.ts';
import { t } from '../i18n.ts';
import { loadable, webAddress } from '../links.ts';
import type { MediaKind } from '../protocol.ts';
import { FileIcon } from './icons.tsx';
import { RichText } from './RichText.tsx';

interface Props {
  media: MediaKind;
  link: string;
  caption: string;
  filename: string;
}

export function Media({ media, link, caption, filename }: Props) {
  const [broken, setBroken] = useState(false);
  // A path is one of this server, which may stand below another application.
  const own = link.startsWith('/') ? baseOf(window.location.pathname) + link : link;
  const src = loadable(own, window.location.href);
  const showsInline = src !== null && !broken && media !== 'document';
  return (
    <figure class={media === 'sticker' ? 'media sticker' : 'media'}>
      {showsInline ? (
        <Player media={media} src={src} label={caption || t[media]} onBroken={() => setBroken(true)} />
      ) : (
        <FileCard name={filename || t[media]} href={src ?? webAddress(link)} />
      )}
      {caption && (
        <figcaption>
          <RichText text={caption} />
        </figcaption>
      )}
    </figure>
  );
}

interface PlayerProps {
  media: MediaKind;
  src: string;
  label: string;
  onBroken: () => void;
}

function Player({ media, src, label, onBroken }: PlayerProps) {
  if (media === 'video') {
    return <video src={src} controls preload="metadata" playsInline aria-label={label} onError={onBroken} />;
  }
  if (media === 'audio') {
    return <audio src={src} controls preload="metadata" aria-label={label} onError={onBroken} />;
  }
  if (media === 'sticker') {
    return <img src={src} alt={label} decoding="async" referrerpolicy="no-referrer" onError={onBroken} />;
  }
  return (
    <a href={src} target="_blank" rel="noopener noreferrer nofollow">
      <img src={src} alt={label} decoding="async" referrerpolicy="no-referrer" onError={onBroken} />
      <span class="hidden"> ({t.newTab})</span>
    </a>
  );
}

function FileCard({ name, href }: { name: string; href: string | null }) {
  const inside = (
    <>
      <FileIcon />
      <span class="file-name">
        {name}
        {href && <small>{t.openFile}</small>}
      </span>
    </>
  );
  if (!href) return <span class="file">{inside}</span>;
  return (
    <a class="file" href={href} target="_blank" rel="noopener noreferrer nofollow">
      {inside}
      <span class="hidden"> ({t.newTab})</span>
    </a>
  );
}
