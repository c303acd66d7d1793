/** Simulates elapsed time for one resource: the clock of a service cannot be set, but stored times can be moved into the past. */
export interface Clock {
  expireFlow(kind: FlowKind, id: string): Promise<void>
  /** Expires all codes that were sent for a flow. */
  expireCodes(kind: FlowKind, flowId: string): Promise<void>
  expireSession(id: string): Promise<void>
  /** Moves the sign-in of the session one hour into the past. */
  ageSession(id: string): Promise<void>
}

export type FlowKind = 'login' | 'registration' | 'verification' | 'recovery' | 'settings'
