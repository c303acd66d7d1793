import { contract, type Operation } from './contract.ts'
import type { EndpointSpec } from './endpoint.ts'

/**
 * The method and path of each operation, which is all that a caller needs. The build of the console replaces this module by the plain list
 * (apps/console/vite.config.ts), so that a browser does not load every schema to call one endpoint.
 */
export const addresses: Readonly<Record<Operation, Pick<EndpointSpec, 'method' | 'path'>>> = contract
