import { FailureCode } from '@crux/agent-protocol'
import type { LogChunkLine } from '../engines/engine.ts'
import { EngineError, type EngineErrorKind } from '../errors/engine-error.ts'
import { messageOf } from '../errors/message-of.ts'

const failureCodes: Record<EngineErrorKind, FailureCode> = {
  unavailable: FailureCode.ENGINE,
  'not-found': FailureCode.NOT_FOUND,
  conflict: FailureCode.CONFLICT,
  unauthorized: FailureCode.REFUSED,
  'registry-unavailable': FailureCode.ENGINE,
  'port-taken': FailureCode.CONFLICT,
  refused: FailureCode.REFUSED,
  other: FailureCode.ENGINE,
}

export function failureOf(error: unknown): { code: FailureCode; message: string } {
  return {
    code: error instanceof EngineError ? failureCodes[error.kind] : FailureCode.UNSPECIFIED,
    message: messageOf(error),
  }
}

export function lineMessage({ seconds, nanos, stderr, text }: LogChunkLine) {
  return { at: { seconds, nanos }, stderr, text }
}
