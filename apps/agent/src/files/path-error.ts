import { EngineError } from '../errors/engine-error.ts'

/** A path that the agent neither changes nor gives to the engine, described for users. The engine was not asked. */
export class PathError extends EngineError {
  override name = 'PathError'

  constructor(message: string, options?: ErrorOptions) {
    super('refused', message, options)
  }
}
