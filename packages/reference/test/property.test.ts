import { compareWithModel } from './property.ts';
import { STORES } from './stores.ts';

// Many more in property-*.long.test.ts.
compareWithModel(5, STORES);
