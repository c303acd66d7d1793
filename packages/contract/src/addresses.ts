import { contract, type Operation } from './contract.ts'
import type { EndpointSpec } from './endpoint.ts'

/**
 * Where each operation is reached: what a caller needs of the table. The build of the console puts the bare list in this module's
 * place (apps/console/vite.config.ts), so that a browser need not load every schema to call one endpoint.
 */
export const addresses: Readonly<Record<Operation, Pick<EndpointSpec, 'method' | 'path'>>> = contract
