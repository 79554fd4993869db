// Builds ../assets/plotly-<version>.min.js: plotly.js core (with scatter), bar and scatterpolar.
// The same versions give the same bytes; README.md says how to run and to check it.
import { createHash } from "node:crypto";
import { copyFileSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const require = createRequire(import.meta.url);
const here = dirname(fileURLToPath(import.meta.url));
const out = process.argv[2] ?? join(here, "..", "assets");
const root = dirname(require.resolve("plotly.js/package.json"));
const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

// The only style sheet plotly.js asks for belongs to its maps, which are not in the bundle.
const noStyleSheets = {
  name: "no-style-sheets",
  setup(esbuild) {
    esbuild.onLoad({ filter: /\.css$/ }, () => ({ contents: "", loader: "js" }));
  },
};

const entry = `
  const Plotly = require("plotly.js/lib/core");
  Plotly.register([require("plotly.js/lib/bar"), require("plotly.js/lib/scatterpolar")]);
  module.exports = Plotly;
`;

const result = await build({
  stdin: { contents: entry, resolveDir: here, sourcefile: "entry.js" },
  bundle: true,
  write: false,
  minify: true,
  format: "iife",
  globalName: "Plotly",
  target: "es2020",
  charset: "ascii",
  legalComments: "none",
  plugins: [noStyleSheets],
  alias: { stream: "stream-browserify", regl: "@plotly/regl" },
  define: { global: "window", "define.amd": "false", "process.env.NODE_DEBUG": "false" },
  logLevel: "warning",
});

const name = `plotly-${version}.min.js`;
const banner = `/* plotly.js ${version} (core, scatter, bar, scatterpolar), MIT licence: see plotly-LICENSE.txt */\n`;
const bytes = Buffer.from(banner + result.outputFiles[0].text);
for (const old of readdirSync(out).filter((file) => /^plotly-[\d.]+\.min\.js(\.sha256)?$/.test(file))) {
  rmSync(join(out, old));
}
writeFileSync(join(out, name), bytes);
writeFileSync(join(out, `${name}.sha256`), `${createHash("sha256").update(bytes).digest("hex")}  ${name}\n`);
copyFileSync(join(root, "LICENSE"), join(out, "plotly-LICENSE.txt"));
console.log(`${name}: ${bytes.length} bytes`);
