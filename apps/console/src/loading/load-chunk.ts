const reloadedKey = 'crux-reloaded-at'
/** A page that was just reloaded is not reloaded again for the same reason. */
const reloadPauseMs = 20_000
/** Containers that start one after another change the network one after another, too. */
const pausesMs = [400, 1_200]

/**
 * Loads a part of the console. A network that changes under the browser aborts what it was loading, so two more tries follow a
 * moment later. If they fail too, the server has most likely been updated and the part's file has another name: the page is reloaded.
 *
 * @throws the last failure, when the page was reloaded for this just before
 */
export async function loadChunk<T>(load: () => Promise<T>): Promise<T> {
  for (const pause of pausesMs) {
    try {
      return await load()
    } catch {
      await new Promise((resume) => setTimeout(resume, pause))
    }
  }
  try {
    return await load()
  } catch (error) {
    if (!mayReload()) throw error
    location.reload()
    return new Promise(() => {})
  }
}

function mayReload(): boolean {
  try {
    const last = Number(sessionStorage.getItem(reloadedKey) ?? 0)
    if (Date.now() - last < reloadPauseMs) return false
    sessionStorage.setItem(reloadedKey, String(Date.now()))
    return true
  } catch {
    return false
  }
}
