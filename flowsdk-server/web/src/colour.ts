const HEX = /^#(?:[0-9a-f]{3}|[0-9a-f]{6})$/i;

export type Rgb = readonly [number, number, number];

export function parseColour(value: unknown): Rgb | null {
  if (typeof value !== 'string' || !HEX.test(value)) return null;
  const digits = value.slice(1);
  const long = digits.length === 3 ? [...digits].map((digit) => digit + digit).join('') : digits;
  const number = Number.parseInt(long, 16);
  return [(number >> 16) & 255, (number >> 8) & 255, number & 255];
}

export function toHex(colour: Rgb): string {
  return `#${colour.map((part) => Math.round(part).toString(16).padStart(2, '0')).join('')}`;
}

export function luminance(colour: Rgb): number {
  const [r, g, b] = colour.map((part) => {
    const share = part / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  }) as [number, number, number];
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

export function contrast(one: Rgb, other: Rgb): number {
  const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b) as [number, number];
  return (high + 0.05) / (low + 0.05);
}

export function mix(from: Rgb, to: Rgb, share: number): Rgb {
  return from.map((part, at) => part + ((to[at] ?? 0) - part) * share) as unknown as Rgb;
}

const WHITE: Rgb = [255, 255, 255];
const INK: Rgb = [16, 20, 30];

export function readableOn(background: Rgb): Rgb {
  return contrast(background, WHITE) >= 4.5 || contrast(background, WHITE) > contrast(background, INK) ? WHITE : INK;
}

/** Moves a brand colour towards the far end until it can be read on `background` (WCAG AA). */
export function legible(colour: Rgb, background: Rgb, wanted = 4.5): Rgb {
  const target = luminance(background) > 0.18 ? INK : WHITE;
  for (let share = 0; share < 1; share += 0.05) {
    const tried = mix(colour, target, share);
    if (contrast(tried, background) >= wanted) return tried;
  }
  return target;
}
