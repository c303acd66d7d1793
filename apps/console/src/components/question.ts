export type Question = {
  /** Names the thing: "Delete registry acme?" */
  title: string
  /** Describes what will happen or be lost. */
  text: string
  /** The verb of the button. */
  action: string
  danger?: boolean
  /** The name that has to be typed to confirm an action that cannot be undone. */
  typeName?: string
  /** A text that has to be typed, which `askText` resolves with. */
  input?: { label: string; help: string; max: number; missing: string }
  /** Without a cancel button: something to read. */
  info?: boolean
}
