import { compareWithModel, SEQUENCES } from './property.ts';
import { STORES } from './stores.ts';

// One file for each store, so that they run in parallel.
compareWithModel(
  SEQUENCES,
  STORES.filter(({ name }) => name === 'PostgreSQL'),
);
