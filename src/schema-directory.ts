/** Where the SDL stands, seen from src/ and from the bundles in dist/ alike: this file has to stay at the top of src/. */
export const SCHEMA_DIRECTORY = new URL('../schema/', import.meta.url);
