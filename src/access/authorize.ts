/* Whether a caller may have a field. enforce.ts says where this is asked. */
import { isScope, type Scope } from '../config/scopes.ts';
import type { Caller } from './caller.ts';
import type { AccessRule, ValuePath } from './rules.ts';

/** Why a caller may not have a field, in a sentence for developers, or undefined when it may. */
export function rejectionReason(rule: AccessRule, caller: Caller, parent: unknown, args: unknown): string | undefined {
  const missing = missingScope(rule, caller, parent, args);
  if (missing) return needsScope(missing, caller);
  if (!rule.whom) return undefined;
  const whom = valueAt(rule.whom, parent, args);
  const allowed = Array.isArray(whom) ? whom.every((one) => mayActOn(caller, one)) : mayActOn(caller, whom);
  return allowed ? undefined : 'This is about another player, which needs the scope "any-player".';
}

/** @param caller In development it has a hint why its token has no scopes. */
export function needsScope(scope: Scope, { hint }: Pick<Caller, 'hint'> = {}): string {
  return `This needs the scope "${scope}"${hint ? `: ${hint}` : ''}.`;
}

/** A field of an input type with a rule, and where the arguments of a field have it. */
export interface ProtectedInput {
  path: readonly string[];
  scope: Scope;
}

/** Why a caller may not send these arguments. */
export function rejectedInput(inputs: readonly ProtectedInput[], caller: Caller, args: unknown): string | undefined {
  const rejected = inputs.find(({ path, scope }) => !caller.scopes.has(scope) && has(args, path));
  return rejected && `The input "${rejected.path.join('.')}" needs the scope "${rejected.scope}".`;
}

/** Whether a path leads to a value, null included. */
function has(value: unknown, path: readonly string[]): boolean {
  const [key, ...rest] = path;
  if (Array.isArray(value)) return value.some((item) => has(item, path));
  if (key === undefined || typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return false;
  return rest.length === 0 || has(Reflect.get(value, key), rest);
}

/** Whether a caller may act on a player: its own, or anybody's with `any-player`. */
function mayActOn(caller: Caller, playerUniqueId: unknown): boolean {
  return caller.scopes.has('any-player') || (caller.sub !== undefined && caller.sub === playerUniqueId);
}

function missingScope(rule: AccessRule, caller: Caller, parent: unknown, args: unknown): Scope | undefined {
  if (caller.scopes.has(rule.scope)) return undefined;
  const names = rule.names && valueAt(rule.names, parent, args);
  if (!Array.isArray(names) || names.length === 0) return rule.scope;
  // Each name once: the caller has few such scopes, so the first new name that is not allowed comes soon.
  for (const name of new Set(names)) {
    const limited = limitedScope(rule.scope, String(name));
    if (!limited || !caller.scopes.has(limited)) return limited ?? rule.scope;
  }
  return undefined;
}

/** The scope that allows one name; undefined for a text that cannot be encoded. */
function limitedScope(scope: Scope, name: string): Scope | undefined {
  if (!name.isWellFormed()) return undefined;
  const text = `${scope}:${encodeURIComponent(name)}`;
  return isScope(text) ? text : undefined;
}

function valueAt({ below, path }: ValuePath, parent: unknown, args: unknown): unknown {
  return follow(below === 'parent' ? parent : args, path);
}

/** The value at a path; of a list, the values of its items. */
function follow(value: unknown, path: readonly string[]): unknown {
  const [key, ...rest] = path;
  if (key === undefined) return value;
  if (Array.isArray(value)) return value.flatMap((item) => follow(item, path));
  return typeof value === 'object' && value !== null ? follow(Reflect.get(value, key), rest) : undefined;
}
