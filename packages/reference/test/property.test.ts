import { compareWithModel } from './property.ts';
import { STORES } from './stores.ts';

// Many more in property-*.long.test.ts.
compareWithModel(20, STORES);
