import * as vscode from "vscode";
import { LanguageClient, ServerOptions } from "vscode-languageclient/node";
import { Run, Walk } from "./run";

let client: LanguageClient | undefined;
let walk: Walk | undefined;
const marker = vscode.window.createTextEditorDecorationType({
  isWholeLine: true,
  backgroundColor: new vscode.ThemeColor("editor.stackFrameHighlightBackground"),
  after: { margin: "0 0 0 2em", color: new vscode.ThemeColor("editorCodeLens.foreground") },
});

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const settings = vscode.workspace.getConfiguration("throng");
  const server: ServerOptions = {
    command: settings.get("path", "throng"),
    args: ["lsp", "--timeout", String(settings.get("timeout", 60)), "--memory", String(settings.get("memory", 2048))],
  };
  const code = [...(settings.get("checkC", false) ? ["c"] : []), ...(settings.get("checkRust", false) ? ["rust"] : [])];
  const languages = ["bp", "throng-system", ...code];
  client = new LanguageClient("throng", "Throng", server, {
    documentSelector: languages.map((language) => ({ language })),
    middleware: {
      // The lenses call commands of the server; this shows what they answer.
      executeCommand: async (command, args, next) => show(command, await next(command, args)),
    },
  });
  const register = vscode.commands.registerCommand;
  context.subscriptions.push(
    marker,
    register("throng.checkFile", () => {
      const uri = vscode.window.activeTextEditor?.document.uri.toString();
      return uri && vscode.commands.executeCommand("throng.check", uri);
    }),
    register("throng.nextStep", () => move((w) => w.next())),
    register("throng.previousStep", () => move((w) => w.previous())),
    vscode.workspace.onDidChangeTextDocument((event) => {
      if (event.contentChanges.length > 0) forget();
    }),
  );
  try {
    await client.start();
  } catch (why) {
    const hint = "Install it with `cargo install --path crates/throng-cli`, or set `throng.path`.";
    void vscode.window.showErrorMessage(`\`${server.command} lsp\` cannot be started: ${why}. ${hint}`);
  }
}

export async function deactivate(): Promise<void> {
  await client?.stop();
}

function show(command: string, answer: any): unknown {
  if (command === "throng.check" && answer) {
    void vscode.window.showInformationMessage(answer.headline);
    if (answer.runs.length > 0) begin(answer.runs[0]);
  } else if (command === "throng.showRun" && answer) {
    begin(answer[0]);
  } else if (command === "throng.showProof" && answer) {
    const panel = vscode.window.createWebviewPanel("throng.proof", "Throng: proof", vscode.ViewColumn.Beside, { enableScripts: true });
    panel.webview.html = answer.html;
  }
  return answer;
}

function begin(run: Run): void {
  walk = new Walk(run);
  void vscode.commands.executeCommand("setContext", "throng.hasRun", true);
  void move(() => {});
}

function forget(): void {
  if (!walk) return;
  walk = undefined;
  void vscode.commands.executeCommand("setContext", "throng.hasRun", false);
  vscode.window.visibleTextEditors.forEach((editor) => editor.setDecorations(marker, []));
}

async function move(how: (walk: Walk) => void): Promise<void> {
  if (!walk || !client) return;
  how(walk);
  const { location, text } = walk.here;
  if (!location) return;
  const range = client.protocol2CodeConverter.asRange(location.range);
  const editor = await vscode.window.showTextDocument(client.protocol2CodeConverter.asUri(location.uri), { preserveFocus: false });
  editor.setDecorations(marker, [{ range, renderOptions: { after: { contentText: text } } }]);
  editor.revealRange(range, vscode.TextEditorRevealType.InCenterIfOutsideViewport);
}
