import type { CodegenConfig } from '@graphql-codegen/cli';

const config: CodegenConfig = {
  schema: 'node_modules/@referral-gateway/client/dist/schema.graphql',
  documents: 'src/operations.ts',
  generates: {
    'src/generated/': {
      preset: 'client',
      presetConfig: { fragmentMasking: false },
      config: {
        useTypeImports: true,
        enumsAsTypes: true,
        defaultScalarType: 'unknown',
        scalars: { ID: { input: 'string', output: 'string' }, DateTime: 'string', URL: 'string' },
      },
    },
  },
};
export default config;
