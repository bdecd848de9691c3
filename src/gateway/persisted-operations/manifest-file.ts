import { onFileChange } from '../../config/file-change.ts';
import { type Manifest, type ManifestCheck, readManifest } from './manifest.ts';

/**
 * Reads `PERSISTED_OPERATIONS_FILE` and reads it again when it changes. Throws when it cannot be used now; when it cannot be
 * used later, what was read last stays in force and `warn` says so.
 */
export function watchManifest(path: string, check: ManifestCheck, warn: (message: string) => void): () => Manifest {
  onFileChange(path, () => {
    try {
      manifest = readManifest(path, check);
    } catch (error) {
      warn(`the earlier persisted operations stay in force: ${error instanceof Error ? error.message : String(error)}`);
    }
  });
  let manifest = readManifest(path, check);
  return () => manifest;
}
