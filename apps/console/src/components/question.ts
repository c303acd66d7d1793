export type Question = {
  /** Names the thing: "Delete registry acme?" */
  title: string
  /** What will happen or be lost, in words. */
  text: string
  /** The verb of the button. */
  action: string
  danger?: boolean
  /** For what cannot be undone: the name that has to be typed. */
  typeName?: string
  /** Without a cancel button: something to read. */
  info?: boolean
}
