import { domainToASCII } from 'node:url';
import {
  type CountryCode,
  getCountryCallingCode,
  parsePhoneNumberFromString as parseNumber,
} from 'libphonenumber-js/min';
import { parsePhoneNumberFromString as parseMobile } from 'libphonenumber-js/mobile';
import type { Contact } from '../store/contacts.ts';

export type ContactKind = Contact['kind'];

/** The longest address of RFC 5321. The check finds typing errors; it does not prove that the address exists. */
const EMAIL = /^(?:"[^"]{1,62}"|[^\s@]{1,64})@[^\s@]{1,189}$/;
/** Quotes around what comes before the `@`, and means the same without them. */
const QUOTED = /^"([^"\s@]+)"(?=@)/;
/** A domain with characters beyond ASCII. No other is converted: `1.2.3` and `a/b` would become other domains. */
const UNICODE_DOMAIN = /(?<=@)[a-z\d.-]*\P{ASCII}[a-z\d.\P{ASCII}-]*$/u;
/** The address of a mail program: `Eva Doe <eva@x.example>`. */
const IN_BRACKETS = /^[^<>]*<([^<>]*)>$/;
/** What surrounds an address that was copied from a sentence, of any script. A domain ends with a letter or a digit. */
const AROUND = /^(?:"(?![^"]+"@)|['([\s]|[^\p{ASCII}\p{L}\p{N}\p{M}\p{S}])+|[^\p{L}\p{N}\p{M}\p{So}]+$/gu;
/** Characters that are not shown: direction marks, zero-width spaces, soft hyphens, variation selectors. */
const INVISIBLE = /[\p{Cf}\p{Default_Ignorable_Code_Point}]/gu;
/** No contact is longer, in UTF-16 units; it bounds the work. */
const MAX_LENGTH = 512;
const MOBILE = /^\d{5,20}$/;
/** Between digits are spaces, all kinds of dashes, dots, slashes and brackets; `#`, `*` and `;` begin an extension. */
const NUMBER = /^(?!.*[#*;]\s*\d)[\s\p{P}]*\+?[\d\s\p{P}\u2212\u30fc]+$/su;

/** Digits of mobile phones that their owners write or leave out, and libphonenumber keeps: prefixes and a ninth digit. */
const [OF_MEXICO, IN_MEXICO] = [/(?<=^52)(?:0?1|04[45])(?=\d{10}$)/, /^0(?:1|4[45])(?=\d{10}$)/];
const MOBILE_NINE = /(?<=^54)(?=[1-8]\d{9}$)|(?<=^55\d\d)(?=[689]\d{7}$)/;

/**
 * Reads an e-mail address or a mobile number in the form in which contacts are compared; undefined if the text cannot
 * be one. Both are read without invisible characters, in the Unicode form NFKC, with the digits of every script as
 * ASCII.
 *
 * E-mail addresses are compared in lower case, with an ASCII domain (`xn--…`), which browsers send, and without
 * `mailto:`, brackets or punctuation around them. Mobile numbers are compared by their digits with the country's,
 * without `+` or `00`.
 *
 * @param country The country of numbers without `+` or `00` (ISO 3166-1, `DE`). Default: such numbers are compared as they are.
 */
export function readContact(kind: ContactKind, text: string, country?: CountryCode): Contact | undefined {
  if (text.length > MAX_LENGTH) return undefined;
  const plain = asciiDigits(text.normalize('NFKC').replace(INVISIBLE, '')).trim();
  const value = kind === 'email' ? readEmail(plain) : readMobile(plain, country);
  return value === undefined ? undefined : { kind, value };
}

function readEmail(text: string): string | undefined {
  const address = (IN_BRACKETS.exec(text)?.[1] ?? text).trim();
  const bare = address.replace(/^mailto:\s*([^?]*).*$/is, (_all, linked: string) => unescaped(linked));
  // Lower case can decompose a character again, and the Turkish capital `İ` becomes `i` with a dot above.
  const lower = bare.replace(QUOTED, '$1').replace(AROUND, '').toLowerCase().normalize('NFKC');
  const value = lower.replaceAll('i\u0307', 'i');
  if (!EMAIL.test(value)) return undefined;
  return value.replace(UNICODE_DOMAIN, (domain) => domainToASCII(domain) || domain);
}

function readMobile(text: string, country: CountryCode | undefined): string | undefined {
  const number = text.replace(/^tel:/i, '');
  if (!NUMBER.test(number)) return undefined;
  // The zero in brackets is dialled inside the country alone. Italian numbers keep a zero, and write it without brackets.
  const dialled = number.replace(/(?<=\d.*)\(\s*0\s*\)/s, '').replace(/\D/g, '');
  const digits = country === 'MX' ? dialled.replace(IN_MEXICO, '') : dialled;
  if (!MOBILE.test(digits)) return undefined;
  const abroad = `+${digits.replace(/^00/, '')}`;
  const hasOwnCode = country !== undefined && digits.startsWith(getCountryCallingCode(country));
  // What a country dials before the numbers of others is not `00` everywhere: AU `0011`.
  const national = digits.startsWith('00') || hasOwnCode ? [digits, abroad] : [digits];
  const forms = /^\D*\+/.test(number) ? [abroad] : national;
  const read = [parseMobile, parseNumber].flatMap((parse) => forms.flatMap((form) => parse(form, country) ?? []));
  // Numbers of mobile phones first: `49 151 …` can be a number of the fixed network of Germany too.
  const found = read.find((one) => one.isValid()) ?? read.find((one) => one.isPossible());
  const international = found ? found.number.slice(1) : digits.replace(/^00/, '');
  const value = international.replace(OF_MEXICO, '').replace(MOBILE_NINE, '9');
  return MOBILE.test(value) ? value : undefined;
}

/** The digits of every script have ten code points in a row, the zero first. */
function asciiDigits(text: string): string {
  return text.replace(/[^\P{Nd}0-9]/gu, (digit) => {
    let distance = 0;
    const code = digit.codePointAt(0) ?? 0;
    while (/\p{Nd}/u.test(String.fromCodePoint(code - distance - 1))) distance++;
    return String(distance % 10);
  });
}

function unescaped(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
