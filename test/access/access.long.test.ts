import { test } from '@jest/globals';
import { CALLERS, expectWhatScopesAllow } from './matrix.ts';

/* access.test.ts has servers with `any-player` and players without it. These are the other forms. */

test.each(CALLERS.others)('every field returns $name what its scopes allow, else FORBIDDEN', expectWhatScopesAllow);
