/** The two ways in which a friend can be reached, and by which a referral is recognised. */
export type ContactKind = 'email' | 'mobile';

export interface Contact {
  kind: ContactKind;
  /** In the form in which contacts are compared. */
  value: string;
}

/** Nobody has a longer address (RFC 5321). What cannot be an address is only told apart to spare people a slip. */
const EMAIL = /^[^\s@]{1,64}@[^\s@]{1,189}$/;
const MOBILE = /^\d{5,20}$/;

/** A contact in the form in which equal ones are equal: e-mails without case, mobile numbers by their digits. */
export function contactOf(kind: ContactKind, text: string): Contact {
  return { kind, value: kind === 'email' ? text.trim().toLowerCase() : text.replace(/\D/g, '') };
}

/** Whether what a person typed can be that kind of contact at all. */
export function isContact({ kind, value }: Contact): boolean {
  return (kind === 'email' ? EMAIL : MOBILE).test(value);
}
