import { addresses, channelPaths, needs } from '@crux/contract'
import tailwindcss from '@tailwindcss/vite'
import react from '@vitejs/plugin-react'
import { defineConfig, type Plugin } from 'vite'

// The console is plain static files; the server serves dist/ and everything below these paths itself.
const server = process.env.CRUX_URL ?? 'http://localhost:8000'
// The server accepts the host and the origin of CRUX_URL; in development the browser's are those of this server.
const headers = { origin: new URL(server).origin }

const addressList = (table: Readonly<Record<string, { method?: string; path: string }>>) =>
  JSON.stringify(Object.fromEntries(Object.entries(table).map(([name, { method, path }]) => [name, { method, path }])))
/** Modules of the contract that hold a list, as they are without the schemas of the table that the list is made of. */
const bareModules: Record<string, string> = {
  addresses: `export const addresses = ${addressList(addresses)}
export const channelPaths = ${addressList(channelPaths)}`,
  needs: `export const needs = ${JSON.stringify(needs)}`,
}
const bareLists: Plugin = {
  name: 'bare-lists',
  apply: 'build',
  load: (id) => bareModules[/\/packages\/contract\/src\/([\w-]+)\.ts$/.exec(id)?.[1] ?? ''],
}

export default defineConfig({
  plugins: [bareLists, react(), tailwindcss()],
  build: {
    outDir: 'dist',
    target: 'es2022',
    sourcemap: false,
    assetsInlineLimit: 0,
    rolldownOptions: {
      output: {
        // Texts of an area and code that the bundler names alike get separate names.
        chunkFileNames: ({ facadeModuleId }) =>
          `assets/${facadeModuleId?.includes('/locales/') ? 'texts-' : ''}[name]-[hash].js`,
        // Otherwise every module that several pages share is a file of its own: a page asked for up to ninety. Larger groups load more than a page needs.
        codeSplitting: {
          groups: [
            { name: 'icons', test: /lucide/, minShareCount: 2 },
            { name: 'shared', minShareCount: 40 },
          ],
        },
      },
    },
  },
  server: {
    proxy: {
      '/api': { target: server, changeOrigin: true, ws: true, headers },
      '/kratos': { target: server, changeOrigin: true, headers },
      '/basics': { target: server, changeOrigin: true },
      '/health': { target: server },
    },
  },
})
