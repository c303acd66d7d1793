/** A count per number of seconds. */
export interface Limit {
  max: number
  windowSeconds: number
}

/** The limits of the service; each is a setting. */
export interface Limits {
  /** Failed attempts per account and network, or from all known devices of the account. */
  account: Limit
  /** Failed passwords per account, from all networks. */
  accountTotal: Limit
  /** Wrong codes per account and day. */
  codes: Limit
  /** Failed attempts and requested mails per client address, for IPv6 per /64 network. */
  client: Limit
  /** Mails with a code to one address, per requesting network or for all known devices of its owner together. */
  resend: Limit
  /** Mails with a code to one address, requested by unknown devices from all networks. */
  mails: Limit
  /** Failed sign-ins with one address, after which a captcha is required. */
  captcha: Limit
}

export type LimitName = keyof Limits

export interface Limiter {
  /**
   * Counts an attempt before it is made, so that concurrent attempts cannot pass together.
   *
   * @throws IdentityError 429 with Retry-After when there were too many
   */
  take(name: LimitName, subject: string): Promise<void>
  /** Whether the limit is reached; does not count an attempt. */
  isReached(name: LimitName, subject: string): Promise<boolean>
  /** Counts an attempt that already happened, so that the next one may be refused. */
  note(name: LimitName, subject: string): Promise<void>
  /** Undoes the count of an attempt that turned out to be harmless. */
  refund(name: LimitName, subject: string): Promise<void>
  /** Resets the count of a subject that has authenticated. */
  reset(name: LimitName, subject: string): Promise<void>
  /** Deletes counters of past windows. */
  clean(): Promise<void>
}
