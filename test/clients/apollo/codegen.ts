// #region codegen
import type { CodegenConfig } from '@graphql-codegen/cli';

const config: CodegenConfig = {
  schema: '../node_modules/@referral-gateway/client/dist/schema.graphql',
  documents: 'operations.ts',
  generates: {
    'generated/': {
      preset: 'client',
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
