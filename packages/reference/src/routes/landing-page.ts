import type { ContactKind } from '../programme/contacts.ts';

/** The content of a landing page. */
export type LandingContent =
  | { kind: 'form'; contact: ContactKind; value: string; isInvalid: boolean }
  | { kind: 'thanks'; shopLink: string | undefined }
  | { kind: 'notFound' }
  | { kind: 'tooMany' };

/** A page without scripts, for every browser and screen reader. */
export function landingPage(content: LandingContent): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>A friend invites you</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>${content.kind === 'notFound' ? 'This invitation does not exist.' : 'A friend invites you'}</h1>
${main(content)}
</main>
</body>
</html>
`;
}

function main(content: LandingContent): string {
  switch (content.kind) {
    case 'notFound':
      return '';
    case 'tooMany':
      return '<p role="alert">Too many attempts. Please try again in a minute.</p>';
    case 'thanks': {
      const thanks = 'Thank you! Now sign up with the same contact, and your friend will be remembered.';
      const shop = content.shopLink && `\n<p><a href="${escaped(content.shopLink)}">Continue to the shop</a></p>`;
      return `<p role="status">${thanks}</p>${shop ?? ''}`;
    }
    case 'form':
      return form(content);
    default:
      return content satisfies never;
  }
}

function form({ contact, value, isInvalid }: LandingContent & { kind: 'form' }): string {
  const [label, type, problem] =
    contact === 'email'
      ? ['Your e-mail address', 'email', 'Please enter an e-mail address like name@example.com.']
      : ['Your mobile number', 'tel', 'Please enter a mobile number with 5 to 20 digits.'];
  const described = isInvalid ? ' aria-invalid="true" aria-describedby="problem" autofocus' : '';
  return `<form method="post">
<label for="contact">${label}</label>
<input id="contact" name="contact" type="${type}" autocomplete="${type}" maxlength="254" required value="${escaped(value)}"${described}>
${isInvalid ? `<p id="problem" role="alert">${problem}</p>\n` : ''}<button>Accept the invitation</button>
</form>`;
}

/** Text for an element or an attribute. */
const escaped = (text: string) => text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);

const STYLE = `
:root { color-scheme: light dark; font: 1.125rem/1.5 system-ui, sans-serif }
body { margin: 0; display: grid; min-height: 100vh; place-items: center }
main { box-sizing: border-box; width: min(100%, 30rem); padding: 1.5rem }
form { display: grid; gap: .75rem }
input, button { font: inherit; padding: .6rem .75rem; border: 1px solid; border-radius: .4rem }
[role=alert] { margin: 0; font-weight: bold }
`;
