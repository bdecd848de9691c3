import { compareWithModel } from './property.ts';

// MODEL_SEQUENCES=2000 for a run before a release.
compareWithModel(Number(process.env['MODEL_SEQUENCES'] ?? 200));
