import { createHmac } from 'node:crypto';
import type { Contact } from '../store/contacts.ts';

export type ContactKind = Contact['kind'];

/** The longest address of RFC 5321. The check finds typing errors; it does not prove that the address exists. */
const EMAIL = /^[^\s@]{1,64}@[^\s@]{1,189}$/;
const MOBILE = /^\d{5,20}$/;

/**
 * Reads an e-mail address or a mobile number in the form in which contacts are compared; undefined if the text cannot be
 * one. E-mail addresses are compared trimmed and in lower case, mobile numbers by their digits, without the international
 * prefix `+` or `00`.
 */
export function readContact(kind: ContactKind, text: string): Contact | undefined {
  if (kind === 'email') {
    const value = text.trim().toLowerCase();
    return EMAIL.test(value) ? { kind, value } : undefined;
  }
  const value = text.replace(/\D/g, '').replace(/^00/, '');
  return MOBILE.test(value) ? { kind, value } : undefined;
}

/** The keyed hash of a contact: it recognises a contact that is known, and tells nothing without the key. */
export function contactHash(key: string, { kind, value }: Contact): string {
  return createHmac('sha256', key).update(`${kind}:${value}`).digest('base64url');
}
