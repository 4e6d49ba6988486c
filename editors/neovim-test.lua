-- Neovim's own client against `throng lsp`: nvim --headless --clean -l editors/neovim-test.lua (or -c "luafile ..."), THRONG names the program.
local function check(condition, what)
  if not condition then
    io.stderr:write("neovim test FAILED: " .. what .. "\n")
    vim.cmd("cquit 1")
  end
end

vim.cmd("set runtimepath+=" .. vim.fn.getcwd() .. "/editors/vim")
vim.cmd("syntax on")
vim.cmd("edit examples/spinlock-broken.bp")
vim.cmd("set filetype=bp")
check(vim.fn.synIDattr(vim.fn.synID(10, 3, 1), "name") == "bpControl", "`while` is highlighted")
local buffer = vim.api.nvim_get_current_buf()
local id = vim.lsp.start_client({ name = "throng", cmd = { os.getenv("THRONG"), "lsp" }, root_dir = vim.fn.getcwd() })
check(id ~= nil, "the server starts")
vim.lsp.buf_attach_client(buffer, id)
local client = vim.lsp.get_client_by_id(id)
check(vim.wait(20000, function() return client.initialized end, 20), "the server answers")

local uri = vim.uri_from_bufnr(buffer)
local hover = client.request_sync("textDocument/hover", { textDocument = { uri = uri }, position = { line = 11, character = 5 } }, 20000, buffer)
check(hover and hover.result and hover.result.contents.value:find("decl lock := 0", 1, true), "hover shows the declaration")

local answer = client.request_sync("workspace/executeCommand", { command = "throng.check", arguments = { uri } }, 60000, buffer)
check(answer and answer.result and answer.result.status == "UNSAFE", "the lock is broken")
local function violated()
  for _, d in ipairs(vim.diagnostic.get(buffer)) do
    if d.message:find("UNSAFE assertions", 1, true) then return d end
  end
end
check(vim.wait(20000, function() return violated() ~= nil end, 20), "the violation is a diagnostic")
check(violated().lnum == 12, "it is at the assertion")

-- An edit takes the verdict back.
vim.api.nvim_buf_set_lines(buffer, 11, 12, false, { "    lokc := 1;" })
check(vim.wait(20000, function()
  local found = vim.diagnostic.get(buffer)
  return #found == 1 and found[1].lnum == 11 and found[1].message:find("not declared", 1, true)
end, 20), "the misspelt name is a diagnostic")
io.stdout:write("neovim: ok\n")
vim.cmd("qall!")
