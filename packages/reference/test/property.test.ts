import { compareWithModel } from './property.ts';

// Many more in property.long.test.ts.
compareWithModel(20);
