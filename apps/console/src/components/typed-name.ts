/** Whether a user has typed this name. Spaces in a row are shown as one, and a letter with its accent may be one sign or two. */
export const isTypedName = (typed: string, name: string): boolean => plain(typed) === plain(name)

const plain = (text: string) => text.normalize('NFC').trim().replace(/\s+/g, ' ')
