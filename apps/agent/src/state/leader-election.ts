/** Of several processes for the same node, one works and the others wait. */
export interface LeaderElection {
  /** Waits for the turn of this process. @returns undefined when the signal aborts before */
  acquire(signal: AbortSignal): Promise<Leadership | undefined>
}

export interface Leadership {
  /** Aborts in time before another process may work: whatever this one does has to end then. */
  readonly lost: AbortSignal
  /**
   * Asked before each change: when a process continues that was suspended, `lost` aborts a moment later, and what was due before goes on until
   * then.
   */
  isHeld(): boolean
  /** Lets the next process work at once. */
  release(): Promise<void>
}
