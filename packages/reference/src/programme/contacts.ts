import { createHmac } from 'node:crypto';
import { type CountryCode, getCountryCallingCode, parsePhoneNumberFromString } from 'libphonenumber-js/min';
import type { Contact } from '../store/contacts.ts';

export type ContactKind = Contact['kind'];

/** A contact of one person. It equals another contact if they have a form in common. */
export interface PersonContact {
  kind: ContactKind;
  /** All forms that mean this contact. The first is the one that is stored when it is left on a landing page. */
  forms: readonly [string, ...string[]];
}

/** The longest address of RFC 5321. The check finds typing errors; it does not prove that the address exists. */
const EMAIL = /^[^\s@]{1,64}@[^\s@]{1,189}$/;
const MOBILE = /^\d{5,20}$/;
/** Longer text is no phone number and is not parsed. */
const MAX_MOBILE_LENGTH = 64;

/**
 * Reads an e-mail address or a mobile number; undefined if the text cannot be one.
 *
 * E-mail addresses are compared trimmed and in lower case. Mobile numbers are compared by their digits, without the
 * international prefix `+` or `00`; with a country, a number of that country also in its national forms. A number need
 * not be valid.
 */
export function readContact(kind: ContactKind, text: string, country: CountryCode | undefined) {
  return kind === 'email' ? readEmail(text) : readMobile(text, country);
}

function readEmail(text: string): PersonContact | undefined {
  const value = text.trim().toLowerCase();
  return EMAIL.test(value) ? { kind: 'email', forms: [value] } : undefined;
}

function readMobile(text: string, country: CountryCode | undefined): PersonContact | undefined {
  const trimmed = text.trim();
  if (trimmed.length > MAX_MOBILE_LENGTH) return undefined;
  const hasPlus = trimmed.startsWith('+');
  const allDigits = trimmed.replace(/\D/g, '');
  const isInternational = hasPlus || allDigits.startsWith('00');
  const digits = hasPlus ? allDigits : allDigits.replace(/^00/, '');
  if (!MOBILE.test(digits)) return undefined;
  const parsed = country === undefined ? [] : parsedForms(trimmed, isInternational ? digits : undefined, country);
  const [first, ...others] = new Set([digits, ...parsed]);
  return first === undefined ? undefined : { kind: 'mobile', forms: [first, ...others] };
}

/** The digits of a number in international form and, if it is a number of `country`, in national forms. */
function parsedForms(text: string, international: string | undefined, country: CountryCode): string[] {
  const number = parsePhoneNumberFromString(international === undefined ? text : `+${international}`, {
    defaultCountry: country,
    extract: false,
  });
  if (!number) return [];
  const forms = [number.number.slice(1)];
  if (number.countryCallingCode === getCountryCallingCode(country)) {
    const national = number.nationalNumber;
    // The library knows the trunk prefix of a valid number only; `0` is the one of most countries.
    const local = [national, number.formatNational().replace(/\D/g, ''), `0${national}`];
    // Some people write the trunk prefix in the international form too: +49 (0)151 …
    forms.push(...local, `${number.countryCallingCode}0${national}`);
  }
  return forms.filter((form) => MOBILE.test(form));
}

/** The keyed hash of a contact: it recognises a contact that is known, and tells nothing without the key. */
export function contactHash(key: string, { kind, value }: Contact): string {
  return createHmac('sha256', key).update(`${kind}:${value}`).digest('base64url');
}

/** The hashes of all forms of a contact. */
export function contactHashes(key: string, { kind, forms }: PersonContact): string[] {
  return forms.map((value) => contactHash(key, { kind, value }));
}
