import { bag, list, readHeader, text, type Bag, type Content, type TemplateAction } from '../content.ts';

/** Reads a template with its values, as the simulator fills it in. */
export function readTemplate(filled: Bag): Content {
  return {
    kind: 'template',
    header: readHeader(filled['header']),
    text: text(filled['body']),
    footer: text(filled['footer']),
    actions: list(filled['buttons'])
      .map((button) => actionOf(bag(button)))
      .filter(({ label }) => label !== ''),
  };
}

function actionOf(button: Bag): TemplateAction {
  const label = text(button['text']);
  switch (button['type']) {
    case 'quick_reply':
      return { kind: 'reply', label };
    case 'url':
      return { kind: 'link', label, href: text(button['url']) };
    case 'phone_number':
      return { kind: 'call', label, number: text(button['phone_number']) };
    case 'copy_code':
      return { kind: 'copy', label, code: text(button['code']) };
    case 'flow':
      return { kind: 'form', label, parameters: bag(button['parameters']) };
    default:
      return { kind: 'other', label };
  }
}
