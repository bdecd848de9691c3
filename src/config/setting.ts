import * as z from 'zod';
import type { SecretSource } from './secret-file.ts';

/** What is declared about a setting beside its form and default, which its zod type holds. */
export interface Declaration {
  /** The name of the environment variable. */
  name: string;
  /** What the documentation says about it, in Markdown. */
  about: string;
  /** A secret can also be given as the path of a file, under its name with `_FILE`. */
  isSecret?: boolean;
}

export const declarations = z.registry<Declaration>();

/** Declares the setting that the environment variable `name` gives. */
export function setting<Form extends z.ZodType>(name: string, form: Form, about: string): Form {
  // A registry holds one declaration for each object, and forms are shared.
  const own = form.clone();
  declarations.add(own, { name, about });
  return own;
}

/** Declares a setting that is a secret: a `SecretSource`, of the variable `name` or of the file that `name_FILE` names. */
export function secret(name: string, about: string) {
  const form = z.custom<SecretSource>((value) => typeof value === 'function').optional();
  declarations.add(form, { name, about, isSecret: true });
  return form;
}

/** A zod object whose members are settings or such objects. */
export type Group = z.ZodObject<Record<string, z.ZodType>>;

/** A setting with its place in the configuration. */
export interface Setting extends Declaration {
  path: readonly string[];
  form: z.ZodType;
}

/** All settings of a group, in the order of their declaration. */
export function settingsOf(group: Group, path: readonly string[] = []): Setting[] {
  return Object.entries(group.shape).flatMap(([key, form]) => {
    const declaration = declarations.get(form);
    if (declaration) return [{ ...declaration, path: [...path, key], form }];
    if (form instanceof z.ZodObject) return settingsOf(form, [...path, key]);
    throw new TypeError(`${[...path, key].join('.')} is no setting`);
  });
}
