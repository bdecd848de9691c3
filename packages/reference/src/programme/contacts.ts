import { createHmac } from 'node:crypto';
import { domainToASCII } from 'node:url';
import type { Contact } from '../store/contacts.ts';

export type ContactKind = Contact['kind'];

/** The longest address of RFC 5321. The check finds typing errors; it does not prove that the address exists. */
const EMAIL = /^[^\s@]{1,64}@[^\s@]{1,189}$/;
/** A domain with characters beyond ASCII. No other is converted: `1.2.3` and `a/b` would become other domains. */
const UNICODE_DOMAIN = /(?<=@)[a-z\d.-]*\P{ASCII}[a-z\d.\P{ASCII}-]*$/u;
const MOBILE = /^\d{5,20}$/;

/**
 * Reads an e-mail address or a mobile number in the form in which contacts are compared; undefined if the text cannot be
 * one. E-mail addresses are compared trimmed, in lower case and with an ASCII domain (`xn--…`), which browsers send; mobile
 * numbers by their digits, without the international prefix `+` or `00`.
 */
export function readContact(kind: ContactKind, text: string): Contact | undefined {
  if (kind === 'email') {
    const value = text.trim().toLowerCase();
    if (!EMAIL.test(value)) return undefined;
    return { kind, value: value.replace(UNICODE_DOMAIN, (domain) => domainToASCII(domain) || domain) };
  }
  const value = text.replace(/\D/g, '').replace(/^00/, '');
  return MOBILE.test(value) ? { kind, value } : undefined;
}

/** The keyed hash of a contact: it recognises a contact that is known, and tells nothing without the key. */
export function contactHash(key: string, { kind, value }: Contact): string {
  return createHmac('sha256', key).update(`${kind}:${value}`).digest('base64url');
}
