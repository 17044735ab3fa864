import { t } from '../i18n.ts';
import { linksOf, parseMarkup, type Block, type Inline } from '../markup.ts';

/** A text of the service, with its formatting. */
export function RichText({ text }: { text: string }) {
  return (
    <>
      {parseMarkup(text).map((block, at) => (
        <BlockNode key={at} block={block} />
      ))}
    </>
  );
}

/** A text as the visitor typed it; only its links are links. */
export function TypedText({ text }: { text: string }) {
  return (
    <p>
      <Parts parts={linksOf(text)} />
    </p>
  );
}

function BlockNode({ block }: { block: Block }) {
  if (block.kind === 'paragraph') {
    return (
      <p>
        <Parts parts={block.children} />
      </p>
    );
  }
  const items = block.items.map((item, at) => (
    <li key={at}>
      <Parts parts={item} />
    </li>
  ));
  return block.first === null ? <ul class="list">{items}</ul> : <ol start={block.first}>{items}</ol>;
}

function Parts({ parts }: { parts: readonly Inline[] }) {
  return (
    <>
      {parts.map((part, at) => (
        <Part key={at} part={part} />
      ))}
    </>
  );
}

function Part({ part }: { part: Inline }) {
  switch (part.kind) {
    case 'text':
      return <>{part.text}</>;
    case 'code':
      return <code>{part.text}</code>;
    case 'link':
      return <Link href={part.href}>{part.text}</Link>;
    case 'bold':
      return (
        <strong>
          <Parts parts={part.children} />
        </strong>
      );
    case 'italic':
      return (
        <em>
          <Parts parts={part.children} />
        </em>
      );
    case 'strike':
      return (
        <s>
          <Parts parts={part.children} />
        </s>
      );
  }
}

function Link({ href, children }: { href: string; children: string }) {
  // Mail and telephone open a program, not a page.
  if (!/^https?:/.test(href)) return <a href={href}>{children}</a>;
  return (
    <a href={href} target="_blank" rel="noopener noreferrer nofollow">
      {children}
      <span class="hidden"> ({t.newTab})</span>
    </a>
  );
}
