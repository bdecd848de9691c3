import type { ContactKind } from '../programme/contacts.ts';
import type { LandingTexts } from '../programme/landing.ts';

/** The content of a landing page. */
export type LandingContent =
  | { kind: 'form'; contact: ContactKind; value: string; isInvalid: boolean }
  | { kind: 'thanks'; shopLink: string | undefined }
  | { kind: 'notFound' }
  /** How long to wait before another form, in seconds; absent while the service fails. */
  | { kind: 'later'; seconds?: number };

/** A page without scripts, for every browser and screen reader. */
export function landingPage(content: LandingContent, language: string, texts: LandingTexts): string {
  const heading = content.kind === 'notFound' ? texts.notFound : texts.title;
  return `<!doctype html>
<html lang="${escaped(language)}" dir="${directionOf(language)}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${escaped(heading)}</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>${escaped(heading)}</h1>
${main(content, texts)}
</main>
</body>
</html>
`;
}

function main(content: LandingContent, texts: LandingTexts): string {
  switch (content.kind) {
    case 'notFound':
      return '';
    case 'later':
      return `<p role="alert">${escaped(texts.later)}</p>`;
    case 'thanks': {
      const link = content.shopLink && `\n<p><a href="${escaped(content.shopLink)}">${escaped(texts.shop)}</a></p>`;
      return `<p role="status">${escaped(texts.thanks)}</p>${link ?? ''}`;
    }
    case 'form':
      return form(content, texts);
    default:
      return content satisfies never;
  }
}

/** In UTF-16 units, of which a form has at most nine bytes: it stays smaller than forms may be. */
const MAX_LENGTH = 320;

/** The browser checks nothing (`novalidate`): the service accepts contacts that `type="email"` would refuse. */
function form({ contact, value, isInvalid }: LandingContent & { kind: 'form' }, texts: LandingTexts): string {
  const { label, problem } = texts[contact];
  const type = contact === 'email' ? 'email' : 'tel';
  const described = isInvalid ? ' aria-invalid="true" aria-describedby="problem" autofocus' : '';
  return `<form method="post" novalidate>
<label for="contact">${escaped(label)}</label>
<input id="contact" name="contact" type="${type}" autocomplete="${type}" dir="ltr" maxlength="${MAX_LENGTH}" required value="${escaped(value)}"${described}>
${isInvalid ? `<p id="problem" role="alert">${escaped(problem)}</p>\n` : ''}<button>${escaped(texts.submit)}</button>
</form>`;
}

/** Text for an element or an attribute. */
const escaped = (text: string) => text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);

const RIGHT_TO_LEFT = new Set(['Adlm', 'Arab', 'Hebr', 'Nkoo', 'Rohg', 'Syrc', 'Thaa']);

/** The direction of the script in which a language is written. */
function directionOf(language: string): 'ltr' | 'rtl' {
  return RIGHT_TO_LEFT.has(new Intl.Locale(language).maximize().script ?? '') ? 'rtl' : 'ltr';
}

const STYLE = `
:root { color-scheme: light dark; font: 1.125rem/1.5 system-ui, sans-serif }
body { margin: 0; display: grid; min-height: 100vh; min-height: 100dvh; place-items: center }
h1 { line-height: 1.2; text-wrap: balance }
main { box-sizing: border-box; width: min(100%, 30rem); padding: 1.5rem }
form { display: grid; gap: .75rem }
input, button { font: inherit; padding: .6rem .75rem; border: 1px solid; border-radius: .4rem }
[role=alert] { margin: 0; font-weight: bold }
`;
