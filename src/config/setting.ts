import * as z from 'zod';
import { Secret } from './secret.ts';

/** The declaration of a setting, without its form and default: these are in its zod type. */
interface Declaration {
  /** The name of the environment variable. */
  name: string;
  /** Its description in the documentation, in Markdown. */
  about: string;
  /** A secret can also be given as the path of a file, under its name with `_FILE`. */
  isSecret?: boolean;
}

const declarations = z.registry<Declaration>();

/** Declares a setting, read from the environment variable `name`. */
export function setting<Form extends z.ZodType>(name: string, form: Form, about: string): Form {
  // A registry holds one declaration for each object, and several settings share a form.
  const own = form.clone();
  declarations.add(own, { name, about });
  return own;
}

/** Declares a secret setting, a `Secret`: from the variable `name`, or from the file whose path is in `name_FILE`. */
export function secret(name: string, about: string) {
  const form = z.instanceof(Secret).optional();
  declarations.add(form, { name, about, isSecret: true });
  return form;
}

/** A zod object whose members are settings or groups. */
export type Group = z.ZodObject<Record<string, z.ZodType>>;

/** A setting: its declaration, and the zod type with its form and default. */
export interface Setting extends Declaration {
  form: z.ZodType;
}

/** The setting that was declared with this form, and its declaration. `key` is the name of the member that has it. */
export function settingOf(key: string, form: z.ZodType): Setting {
  const declaration = declarations.get(form);
  if (!declaration) throw new TypeError(`The member ${key} of the settings is not declared as a setting.`);
  return { ...declaration, form };
}

/** All settings of a group, in the order of their declaration. */
export function settingsOf(group: Group): Setting[] {
  return Object.entries(group.shape).flatMap(([key, form]) =>
    form instanceof z.ZodObject ? settingsOf(form) : settingOf(key, form),
  );
}
