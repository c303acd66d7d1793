import { z } from 'zod'
import { parseJson } from '../files/parse-json.ts'
import type { Records } from '../state/agent-state.ts'

const UpdateFile = z.object({
  id: z.string(),
  nodeId: z.string(),
  /** Of the new agent. Empty once the new agent has stored it as the connection token. */
  token: z.string(),
  /** The container of the old agent, and the name that it has outside of updates. */
  previous: z.object({ id: z.string(), name: z.string() }),
})
/** An update of this agent that has not ended on this machine. Old and new agent both read it. */
export type UpdateFile = z.output<typeof UpdateFile>

export interface UpdateFileStore {
  read(): Promise<UpdateFile | undefined>
  write(update: UpdateFile): Promise<void>
  remove(): Promise<void>
}

export function openUpdateFile(records: Records): UpdateFileStore {
  return {
    async read() {
      return parseJson(UpdateFile, await records.read('update.json'))
    },
    write: (update) => records.write('update.json', `${JSON.stringify(update)}\n`),
    remove: () => records.remove('update.json'),
  }
}
