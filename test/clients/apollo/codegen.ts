// #region codegen
import type { CodegenConfig } from '@graphql-codegen/cli';

const config: CodegenConfig = {
  schema: '../node_modules/@referral-gateway/client/dist/schema.graphql',
  documents: 'operations.ts',
  generates: {
    'generated/': {
      preset: 'client',
      // `persistedDocuments` is for `createClient({ persisted: true })`. With Apollo Client leave it out: the
      // documents that it writes lack `__typename`, which Apollo's cache needs.
      presetConfig: { fragmentMasking: false, persistedDocuments: true },
      config: {
        useTypeImports: true,
        enumsAsTypes: true,
        defaultScalarType: 'unknown',
        scalars: {
          Date: 'string',
          DateTime: 'string',
          URL: 'string',
          LanguageCode: 'string',
          CustomAttributes: 'Record<string, string | number>',
          EventMetadata: 'Record<string, string | number | (string | number)[]>',
        },
      },
    },
  },
};
export default config;
// #endregion codegen
