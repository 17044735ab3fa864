import { t } from '../i18n.ts';
import { linkify } from '../linkify.ts';

export function RichText({ text }: { text: string }) {
  return (
    <>
      {linkify(text).map((piece, at) =>
        piece.href ? (
          <ExternalLink key={at} href={piece.href}>
            {piece.text}
          </ExternalLink>
        ) : (
          piece.text
        ),
      )}
    </>
  );
}

export function ExternalLink({ href, children }: { href: string; children: preact.ComponentChildren }) {
  return (
    <a href={href} target="_blank" rel="noopener noreferrer nofollow">
      {children}
      <span class="hidden"> ({t.newTab})</span>
    </a>
  );
}
