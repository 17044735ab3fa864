import { contrast, legible, luminance, mix, parseColour, readableOn, toHex, type Rgb } from './colour.ts';
import type { Appearance } from './protocol.ts';

const SURFACE_LIGHT: Rgb = [255, 255, 255];
const SURFACE_DARK: Rgb = [30, 35, 46];
const PROPERTIES = ['--brand', '--on-brand', '--brand-text', '--bg', '--on-bg', '--font', '--radius'] as const;

/** Families that devices have: the page loads nothing from elsewhere. */
const FONTS: Readonly<Record<string, string>> = {
  serif: 'ui-serif, Georgia, Cambria, "Noto Serif", serif',
  rounded: 'ui-rounded, "SF Pro Rounded", "Hiragino Maru Gothic ProN", Quicksand, Nunito, ui-sans-serif, sans-serif',
  mono: 'ui-monospace, Menlo, Consolas, "Noto Sans Mono", monospace',
};
const MAX_RADIUS = 28;

/** Colours chosen by a customer are kept where they can be read, and bent towards the readable where not. */
export function lookOf(appearance: Appearance | null, dark: boolean): Partial<Record<(typeof PROPERTIES)[number], string>> {
  const surface = dark ? SURFACE_DARK : SURFACE_LIGHT;
  const look: Partial<Record<(typeof PROPERTIES)[number], string>> = {};
  const brand = parseColour(appearance?.primaryColor);
  if (brand) {
    // A brand colour as dark (or light) as the page would leave bubbles and buttons without an edge.
    const seen = contrast(brand, surface) < 1.4 ? mix(brand, dark ? [255, 255, 255] : [16, 20, 30], 0.35) : brand;
    const on = readableOn(seen);
    look['--brand'] = toHex(contrast(seen, on) >= 4.5 ? seen : legible(seen, on));
    look['--on-brand'] = toHex(on);
    look['--brand-text'] = toHex(legible(brand, surface));
  }
  const background = parseColour(appearance?.backgroundColor);
  // A light background would undo the dark theme the visitor asked for.
  if (background && (!dark || luminance(background) < 0.15)) {
    look['--bg'] = toHex(background);
    look['--on-bg'] = toHex(legible(mix(background, readableOn(background), 0.6), background));
  }
  const font = typeof appearance?.font === 'string' ? FONTS[appearance.font] : undefined;
  if (font) look['--font'] = font;
  const radius = appearance?.radius;
  if (typeof radius === 'number' && radius >= 0) look['--radius'] = `${Math.min(radius, MAX_RADIUS)}px`;
  return look;
}

export function applyLook(appearance: Appearance | null): () => void {
  const scheme = window.matchMedia('(prefers-color-scheme: dark)');
  const apply = () => {
    const look = lookOf(appearance, scheme.matches);
    const style = document.documentElement.style;
    for (const name of PROPERTIES) {
      const value = look[name];
      if (value) style.setProperty(name, value);
      else style.removeProperty(name);
    }
    const bar = getComputedStyle(document.documentElement).getPropertyValue('--brand').trim();
    document.querySelector('meta[name="theme-color"]')?.setAttribute('content', bar);
  };
  apply();
  scheme.addEventListener('change', apply);
  return () => scheme.removeEventListener('change', apply);
}
