import { startReference } from '../kit/reference.ts';

/** A service that the contract is tried on. */
export interface ContractService {
  /** The host part, without `/api/v3.0`. */
  url: string;
  apiKey: string;
  secretKey: string;
  close(): Promise<void>;
}

/**
 * The service named in the environment (CONTRACT_BASE_URL, CONTRACT_API_KEY, CONTRACT_SECRET_KEY), else the reference
 * service. The suite creates players of its own there and deletes them again.
 */
export async function contractService(): Promise<ContractService> {
  const url = process.env['CONTRACT_BASE_URL'];
  if (url === undefined) return startReference();
  return {
    url: url.replace(/\/+$/, ''),
    apiKey: process.env['CONTRACT_API_KEY'] ?? '',
    secretKey: process.env['CONTRACT_SECRET_KEY'] ?? '',
    close: async () => {},
  };
}
