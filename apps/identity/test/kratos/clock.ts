/** Lets time pass for one thing: services cannot be told what time it is, but what they remember of the past can be moved. */
export interface Clock {
  expireFlow(kind: FlowKind, id: string): Promise<void>
  /** All codes that were sent for a flow. */
  expireCodes(kind: FlowKind, flowId: string): Promise<void>
  expireSession(id: string): Promise<void>
  /** The person proved who they are an hour ago. */
  ageSession(id: string): Promise<void>
}

export type FlowKind = 'login' | 'registration' | 'verification' | 'recovery' | 'settings'
