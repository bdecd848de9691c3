import { compareWithModel } from './property.ts';
import { STORES } from './stores.ts';

// One file for each store, so that they run in parallel.
compareWithModel(
  2_000,
  STORES.filter(({ name }) => name === 'PostgreSQL'),
);
