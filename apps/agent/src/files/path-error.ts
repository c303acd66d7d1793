import { EngineError } from '../drivers/errors.ts'

/** A path that the agent neither touches nor gives to the engine, in a sentence for a person. The engine was not asked. */
export class PathError extends EngineError {
  override name = 'PathError'

  constructor(message: string, options?: ErrorOptions) {
    super('refused', message, options)
  }
}
