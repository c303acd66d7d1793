/** A setting that reaches the node, and why only an admin may confirm it. */
export type HostDanger = { property: string; value: string; reason: string }
