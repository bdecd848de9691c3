import type { ContactKind } from '../programme/contacts.ts';
import type { LandingTexts } from './texts.ts';

/** The content of a landing page. */
export type LandingContent =
  | { kind: 'form'; contact: ContactKind; value: string; isInvalid: boolean }
  | { kind: 'thanks'; shopLink: string | undefined }
  | { kind: 'notFound' }
  | { kind: 'tooMany' };

/** A page without scripts, for every browser and screen reader. */
export function landingPage(language: string, texts: LandingTexts, content: LandingContent): string {
  return `<!doctype html>
<html lang="${escaped(language)}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${escaped(texts.title)}</title>
<style>${STYLE}</style>
</head>
<body>
<main>
${main(texts, content)}
</main>
</body>
</html>
`;
}

function main(texts: LandingTexts, content: LandingContent): string {
  const title = `<h1>${escaped(texts.title)}</h1>`;
  switch (content.kind) {
    case 'notFound':
      return `<h1>${escaped(texts.notFound)}</h1>`;
    case 'tooMany':
      return `${title}\n<p role="alert">${escaped(texts.tooMany)}</p>`;
    case 'thanks':
      return `${title}\n<p role="status">${escaped(texts.thanks)}</p>${shop(texts, content.shopLink)}`;
    case 'form':
      return `${title}\n${form(texts, content)}`;
    default:
      return content satisfies never;
  }
}

function shop(texts: LandingTexts, link: string | undefined): string {
  return link === undefined ? '' : `\n<p><a href="${escaped(link)}">${escaped(texts.toShop)}</a></p>`;
}

function form(texts: LandingTexts, { contact, value, isInvalid }: LandingContent & { kind: 'form' }): string {
  const [label, type, autocomplete, problem] =
    contact === 'email'
      ? [texts.email, 'email', 'email', texts.invalidEmail]
      : [texts.mobile, 'tel', 'tel', texts.invalidMobile];
  const described = isInvalid ? ' aria-invalid="true" aria-describedby="problem" autofocus' : '';
  // Without an action, the form is sent to the address of the page, with its language.
  return `<form method="post">
<label for="contact">${escaped(label)}</label>
<input id="contact" name="contact" type="${type}" autocomplete="${autocomplete}" maxlength="254" required value="${escaped(value)}"${described}>
${isInvalid ? `<p id="problem" role="alert">${escaped(problem)}</p>\n` : ''}<button>${escaped(texts.send)}</button>
</form>`;
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character);
}

const STYLE = `
:root { color-scheme: light dark; font: 1.125rem/1.5 system-ui, sans-serif }
body { margin: 0; display: grid; min-height: 100vh; place-items: center }
main { box-sizing: border-box; width: min(100%, 30rem); padding: 1.5rem }
form { display: grid; gap: .75rem }
input, button { font: inherit; padding: .6rem .75rem; border: 1px solid; border-radius: .4rem }
[role=alert] { margin: 0; font-weight: bold }
`;
