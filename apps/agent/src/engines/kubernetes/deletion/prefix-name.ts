import { EngineError } from '../../../errors.ts'

/** Anything else is no namespace, and would be another path of the API. @throws EngineError `refused` */
export function assertPrefix(prefix: string): void {
  if (!/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(prefix))
    throw new EngineError('refused', 'The command names no prefix')
}
